{# The query of a model is Flink SQL; the adapter knows it by the first line. A test is Spark SQL. #}
{% macro get_show_sql(compiled_code, sql_header, limit) -%}
  {%- if sql_header -%}
    {{ adapter.refuse("the config `sql_header`", "set `settings` in the profile") }}
  {%- endif -%}
  {%- if model.resource_type == 'test' -%}
{{ compiled_code }}
{{ "limit " ~ limit if limit is not none }}
  {%- else -%}
/* flink sql, limit {{ limit }} */
{{ compiled_code }}
  {%- endif -%}
{%- endmacro %}

{% macro streamtable__current_timestamp() -%}
  current_timestamp()
{%- endmacro %}

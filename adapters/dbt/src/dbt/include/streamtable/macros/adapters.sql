{# `dbt show`. The query of a model is Flink SQL; the adapter knows it by the comment. A test is Spark
   SQL. #}
{% macro streamtable__get_limit_sql(sql, limit) -%}
  {%- if model.resource_type == 'test' -%}
{{ sql }}
{{ "limit " ~ limit if limit is not none }}
  {%- else -%}
/* flink sql, limit {{ limit }} */
{{ sql }}
  {%- endif -%}
{%- endmacro %}

{% macro streamtable__current_timestamp() -%}
  current_timestamp()
{%- endmacro %}

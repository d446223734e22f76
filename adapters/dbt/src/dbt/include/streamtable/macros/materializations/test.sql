{# A test: Spark SQL over the rows that the named relations have now. #}
{% materialization test, adapter='streamtable' %}
  {%- if should_store_failures() -%}
    {{ adapter.refuse("store_failures", "run `dbt show --select` of the test to see its rows") }}
  {%- endif -%}
  {%- call statement('main', fetch_result=True) -%}
    {{ get_test_sql(sql, config.get('fail_calc'), config.get('warn_if'), config.get('error_if'),
                    config.get('limit')) }}
  {%- endcall -%}
  {{ return({'relations': []}) }}
{% endmaterialization %}

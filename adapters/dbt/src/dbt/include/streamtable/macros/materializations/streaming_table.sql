{# A table that a job of its own keeps up to date. #}
{% materialization streaming_table, adapter='streamtable' %}
  {%- set target_relation = this.incorporate(type='table') -%}
  {%- set bounded = var('bounded', config.get('bounded', false)) -%}
  {%- set response = adapter.run_streaming_table(
        model, sql, bounded=bounded, full_refresh=should_full_refresh()) -%}
  {%- do store_result('main', response=response) -%}
  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}

{# A view, which becomes a part of each job that reads it. #}
{% materialization view, adapter='streamtable' %}
  {%- set target_relation = this.incorporate(type='view') -%}
  {%- do store_result('main', response=adapter.create_view(model, sql)) -%}
  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}

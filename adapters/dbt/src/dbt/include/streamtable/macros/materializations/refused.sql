{# Materializations that make no sense over topics. #}
{% materialization table, adapter='streamtable' %}
  {{ adapter.refuse("materialized='table'", "use materialized='streaming_table'; a job keeps its rows up to date") }}
{% endmaterialization %}
{% materialization incremental, adapter='streamtable' %}
  {{ adapter.refuse("materialized='incremental'", "use materialized='streaming_table'; a job keeps its rows up to date") }}
{% endmaterialization %}
{% materialization materialized_view, adapter='streamtable' %}
  {{ adapter.refuse("materialized='materialized_view'", "use materialized='streaming_table'; a job keeps its rows up to date") }}
{% endmaterialization %}
{% materialization snapshot, adapter='streamtable' %}
  {{ adapter.refuse("snapshots", "a topic keeps the history of its keys: `streamtable read --changes`") }}
{% endmaterialization %}
{% materialization seed, adapter='streamtable' %}
  {{ adapter.refuse("seeds", "declare the file as a source with the connector 'filesystem'") }}
{% endmaterialization %}
{% materialization clone, adapter='streamtable' %}
  {{ adapter.refuse("clones", "use a model with another `alias`") }}
{% endmaterialization %}
{% materialization unit, adapter='streamtable' %}
  {{ adapter.refuse("unit tests", "write a test of the script for `streamtable test`") }}
{% endmaterialization %}
{% materialization function, adapter='streamtable' %}
  {{ adapter.refuse("functions", "register Python functions with CREATE FUNCTION in a script") }}
{% endmaterialization %}

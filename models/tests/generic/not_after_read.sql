-- A record cannot have been created after it was read; a day more allows for wrong clocks.
{% test not_after_read(model, column_name) %}
{{ config(severity = 'warn') }}
SELECT *
FROM {{ model }}
WHERE {{ column_name }} > (SELECT max(complete_at) FROM {{ source('meta', 'watermarks') }}) + INTERVAL 1 DAY
{% endtest %}

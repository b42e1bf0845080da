-- The days are those of UTC on which the runs began.
SELECT
  (runs.started_at AT TIME ZONE 'UTC')::DATE AS run_date,
  resources.location_id,
  resources.resource AS table_name,
  count(*)::BIGINT AS runs,
  sum(resources.records)::BIGINT AS records_read,
  sum(resources.new_rows)::BIGINT AS new_rows,
  sum(resources.changed_rows)::BIGINT AS changed_rows,
  sum(resources.deleted_rows)::BIGINT AS deleted_rows,
  sum(resources.rejected_values)::BIGINT AS rejected_values,
  sum(resources.rejected_records)::BIGINT AS rejected_records,
  coalesce(sum(rounded.rounded_values), 0)::BIGINT AS rounded_values,
  sum(resources.requests)::BIGINT AS requests
FROM {{ source('meta', 'run_resources') }} AS resources
JOIN {{ source('meta', 'runs') }} AS runs USING (run_id)
LEFT JOIN (
  SELECT run_id, location_id, resource, sum(rounded) AS rounded_values
  FROM {{ source('meta', 'rounded_values') }}
  GROUP BY ALL
) AS rounded USING (run_id, location_id, resource)
GROUP BY ALL

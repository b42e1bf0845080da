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
  sum(resources.requests)::BIGINT AS requests
FROM {{ source('meta', 'run_resources') }} AS resources
JOIN {{ source('meta', 'runs') }} AS runs USING (run_id)
GROUP BY ALL

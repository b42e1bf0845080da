-- The service sends no currency with an opportunity: its value is in the currency of the account, as dim_location has it.
SELECT
  opportunities.location_id,
  opportunities.id AS opportunity_id,
  opportunities.name AS opportunity_name,
  opportunities.contact_id,
  opportunities.assigned_to AS assigned_user_id,
  opportunities.pipeline_id,
  stages.pipeline_name,
  opportunities.pipeline_stage_id,
  stages.pipeline_stage_name,
  stages.stage_position,
  opportunities.status,
  states.counts_as,
  states.counts_as = 'open' AS is_open,
  states.counts_as = 'won' AS is_won,
  states.counts_as = 'lost' AS is_lost,
  reasons.name AS lost_reason_name,
  opportunities.source,
  opportunities.monetary_value,
  locations.currency,
  opportunities.created_at,
  opportunities.created_at AT TIME ZONE locations.time_zone AS created_local,
  created_local::DATE AS created_local_date,
  opportunities.last_stage_change_at,
  CASE WHEN states.counts_as <> 'open' THEN opportunities.last_status_change_at END AS closed_at,
  closed_at AT TIME ZONE locations.time_zone AS closed_local,
  closed_local::DATE AS closed_local_date,
  opportunities.forecast_expected_close_date,
  opportunities._synced_at
FROM {{ ref('stg_opportunities') }} AS opportunities
LEFT JOIN {{ ref('dim_location') }} AS locations USING (location_id)
LEFT JOIN {{ ref('dim_state') }} AS states ON states.fact = 'fct_opportunity' AND states.state = lower(trim(opportunities.status))
LEFT JOIN {{ ref('stg_lost_reasons') }} AS reasons
  ON reasons.location_id = opportunities.location_id AND reasons.id = opportunities.lost_reason_id
LEFT JOIN {{ ref('dim_pipeline_stage') }} AS stages
  ON stages.location_id = opportunities.location_id
  AND stages.pipeline_id = opportunities.pipeline_id
  AND stages.pipeline_stage_id = opportunities.pipeline_stage_id

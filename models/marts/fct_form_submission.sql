-- The API has no visits of a form, so there is no rate from visit to submission. The opportunity is the first one of the
-- contact that was created after the submission.
SELECT
  submissions.location_id,
  submissions.id AS form_submission_id,
  submissions.form_id,
  forms.name AS form_name,
  submissions.contact_id,
  submissions.created_at AS submitted_at,
  submissions.created_at AT TIME ZONE locations.time_zone AS submitted_local,
  submitted_local::DATE AS submitted_local_date,
  submissions.event_page_url AS page_url,
  submissions.event_medium AS medium,
  submissions.event_source AS source,
  submissions.event_referrer AS referrer,
  opportunities.opportunity_id,
  opportunities.created_at AS opportunity_created_at,
  opportunities.status AS opportunity_status,
  opportunities.opportunity_id IS NOT NULL AS has_opportunity
FROM {{ ref('stg_form_submissions') }} AS submissions
LEFT JOIN {{ ref('dim_location') }} AS locations ON locations.location_id = submissions.location_id
LEFT JOIN {{ ref('stg_forms') }} AS forms
  ON forms.location_id = submissions.location_id AND forms.id = submissions.form_id
-- DuckDB may join two that have no contact, and takes any of several opportunities of one time.
ASOF LEFT JOIN (
  SELECT * FROM {{ ref('fct_opportunity') }} WHERE created_at IS NOT NULL AND contact_id IS NOT NULL
  QUALIFY row_number() OVER (PARTITION BY location_id, contact_id, created_at ORDER BY opportunity_id) = 1
) AS opportunities
  ON opportunities.location_id = submissions.location_id
  AND opportunities.contact_id = submissions.contact_id
  -- Without its time, a submission would match any.
  AND opportunities.created_at >= coalesce(submissions.created_at, TIMESTAMPTZ 'infinity')

-- Forms filled in. They never change, and the service does not say when one is removed.
SELECT
  location_id,
  id,
  form_id,
  contact_id,
  name,
  email,
  created_at,
  external,
  event_type,
  event_page_url,
  event_page_title,
  event_domain,
  event_medium,
  event_source,
  event_referrer,
  event_page_visit_type,
  event_data,
  field_order,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'form_submissions') }}
WHERE _deleted_at IS NULL

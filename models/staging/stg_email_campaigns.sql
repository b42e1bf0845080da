-- Emails sent, or to be sent, to many contacts at once.
SELECT
  location_id,
  id,
  name,
  status,
  source,
  source_id,
  campaign_type,
  campaign_category,
  deleted,
  created_at,
  updated_at,
  editor_type,
  is_plain_text,
  from_name,
  from_email,
  subject,
  reply_to_address,
  preview_text,
  editor_content_url,
  body,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'email_campaigns') }}
WHERE _deleted_at IS NULL

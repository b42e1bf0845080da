-- A document is signed by the last of those who have to sign it.
SELECT
  documents.location_id,
  documents.id AS document_id,
  documents.type AS document_type,
  documents.status AS document_status,
  states.counts_as,
  states.counts_as = 'signed' AS is_signed,
  documents.is_expired IS TRUE AS is_expired,
  documents.payment_status,
  nullif(upper(trim(documents.grand_total_currency)), '') AS currency,
  documents.grand_total_amount AS amount,
  CASE WHEN states.counts_as = 'signed' THEN signatures.last_signed_at END AS signed_at,
  signed_at AT TIME ZONE locations.time_zone AS signed_local,
  signed_local::DATE AS signed_local_date,
  documents.created_at,
  documents.created_at AT TIME ZONE locations.time_zone AS created_local,
  created_local::DATE AS created_local_date,
  documents.updated_at,
  documents._synced_at
FROM {{ ref('stg_documents') }} AS documents
LEFT JOIN {{ ref('dim_location') }} AS locations USING (location_id)
LEFT JOIN {{ ref('dim_state') }} AS states ON states.fact = 'fct_document' AND states.state = lower(trim(documents.status))
LEFT JOIN (
  SELECT location_id, document_id, max(signed_date) AS last_signed_at FROM {{ ref('stg_document_recipients') }} GROUP BY ALL
) AS signatures ON signatures.location_id = documents.location_id AND signatures.document_id = documents.id
WHERE documents.deleted IS NOT TRUE

SELECT date_trunc('month', closed_at AT TIME ZONE 'UTC')::date AS month, currency, count(*) AS deals, sum(monetary_value) AS value
FROM {{ source('crm_bi', 'fct_opportunity') }}
WHERE is_won AND closed_at IS NOT NULL
GROUP BY 1, 2

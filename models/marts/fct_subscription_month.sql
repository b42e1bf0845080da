-- From the month in which a subscription was created to the one in which it was cancelled, or in which its list was last
-- read; only the last of these if the service does not say when it was created. A date before the first day of dim_date, or
-- after the last reading, says nothing: such as that of year 1 or 9999, which programs write for none. The monthly amount is
-- NULL where it sent no interval: it is not guessed. A subscription of unknown status counts, and is labelled.
WITH subscriptions AS (
  SELECT
    subscriptions.*,
    coalesce(locations.time_zone, 'UTC') AS local_zone,
    (greatest(readings.complete_at, max(subscriptions._synced_at) OVER (PARTITION BY subscriptions.location_id))
      AT TIME ZONE local_zone)::DATE AS read_local_date,
    (subscriptions.created_at AT TIME ZONE local_zone)::DATE AS created_local_date,
    (subscriptions.canceled_at AT TIME ZONE local_zone)::DATE AS ended_local_date,
    CASE WHEN created_local_date BETWEEN DATE '2010-01-01' AND read_local_date THEN created_local_date END AS started_local_date,
    CASE WHEN ended_local_date BETWEEN DATE '2010-01-01' AND read_local_date THEN ended_local_date END AS canceled_local_date,
    coalesce(canceled_local_date, read_local_date) AS last_local_date
  FROM {{ ref('stg_subscriptions') }} AS subscriptions
  LEFT JOIN {{ ref('dim_location') }} AS locations USING (location_id)
  LEFT JOIN {{ source('meta', 'watermarks') }} AS readings
    ON readings.location_id = subscriptions.location_id AND readings.resource = 'subscriptions'
  WHERE coalesce(subscriptions.status, 'unknown') NOT IN ('incomplete', 'incomplete_expired')
), months AS (
  SELECT *,
    unnest(range(
      date_trunc('month', coalesce(started_local_date, last_local_date))::TIMESTAMP,
      date_trunc('month', greatest(started_local_date, last_local_date))::TIMESTAMP + INTERVAL 1 MONTH,
      INTERVAL 1 MONTH
    ))::DATE AS month_start
  FROM subscriptions
)
SELECT
  location_id,
  id AS subscription_id,
  month_start,
  contact_id,
  coalesce(nullif(status, ''), 'unknown') AS subscription_status,
  live_mode IS NOT FALSE AND mark_as_test IS NOT TRUE AS is_live,
  currency,
  CASE
    WHEN schedule_rrule_interval = 1 AND schedule_rrule_interval_type = 'monthly' THEN amount
    ELSE try_cast(amount / nullif(schedule_rrule_interval, 0) * CASE schedule_rrule_interval_type
      WHEN 'yearly' THEN 1 / 12.0
      WHEN 'monthly' THEN 1
      WHEN 'weekly' THEN 52 / 12.0
      WHEN 'daily' THEN 365 / 12.0
    END AS DECIMAL(38, 7))
  END AS monthly_amount,
  coalesce(month_start = date_trunc('month', started_local_date), false) AS is_first_month,
  coalesce(month_start = date_trunc('month', canceled_local_date), false) AS is_churn_month
FROM months

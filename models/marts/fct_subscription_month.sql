-- From the month in which a subscription was created to the one in which it ended, or in which its list was last read; only the
-- last of these if the service does not say when it was created. It ended when it was cancelled, or, if its state says that it
-- ended, on the last day of its schedule, or else when a reading first showed that state. A date before the first day of
-- dim_date, or after the last reading, says nothing: such as that of year 1 or 9999, which programs write for none. A month counts
-- by the state in which readings saw the subscription before the month was over, or else first; that it ended is no such state.
-- Nothing is guessed: the amount of a state that dim_state does not know, or without an interval, is NULL.
WITH versions AS (
  SELECT versions.location_id, id, seen_at, versions.status, states.counts_as
  FROM (
    SELECT location_id, id, status, _valid_from AS seen_at FROM {{ source('crm_history', 'subscriptions') }}
    UNION ALL
    SELECT location_id, id, status, _synced_at FROM {{ ref('stg_subscriptions') }}
  ) AS versions
  LEFT JOIN {{ ref('dim_state') }} AS states
    ON states.fact = 'fct_subscription_month' AND states.state = lower(trim(versions.status))
), living AS (
  SELECT * FROM versions WHERE counts_as IS DISTINCT FROM 'ended'
), ends AS (
  SELECT versions.location_id, versions.id, min(versions.seen_at) AS ended_seen_at
  FROM versions
  LEFT JOIN (SELECT location_id, id, max(seen_at) AS lived_at FROM living GROUP BY ALL) AS lives USING (location_id, id)
  WHERE versions.counts_as = 'ended' AND versions.seen_at > coalesce(lives.lived_at, TIMESTAMPTZ '-infinity')
  GROUP BY ALL
), subscriptions AS (
  SELECT
    subscriptions.*,
    coalesce(locations.time_zone, 'UTC') AS local_zone,
    (greatest(readings.complete_at, max(subscriptions._synced_at) OVER (PARTITION BY subscriptions.location_id))
      AT TIME ZONE local_zone)::DATE AS read_local_date,
    (subscriptions.created_at AT TIME ZONE local_zone)::DATE AS created_local_date,
    (subscriptions.canceled_at AT TIME ZONE local_zone)::DATE AS ended_local_date,
    CASE WHEN created_local_date BETWEEN DATE '2010-01-01' AND read_local_date THEN created_local_date END AS started_local_date,
    coalesce(
      CASE WHEN ended_local_date BETWEEN DATE '2010-01-01' AND read_local_date THEN ended_local_date END,
      CASE WHEN ends.id IS NOT NULL AND schedule_rrule_end_date BETWEEN DATE '2010-01-01' AND read_local_date THEN schedule_rrule_end_date END
    ) AS sent_end_date,
    coalesce(sent_end_date, (ends.ended_seen_at AT TIME ZONE local_zone)::DATE) AS canceled_local_date,
    coalesce(canceled_local_date, read_local_date) AS last_local_date
  FROM {{ ref('stg_subscriptions') }} AS subscriptions
  LEFT JOIN {{ ref('dim_location') }} AS locations USING (location_id)
  LEFT JOIN {{ source('meta', 'watermarks') }} AS readings
    ON readings.location_id = subscriptions.location_id AND readings.resource = 'subscriptions'
  LEFT JOIN ends ON ends.location_id = subscriptions.location_id AND ends.id = subscriptions.id
), months AS (
  SELECT *,
    unnest(range(
      date_trunc('month', coalesce(started_local_date, last_local_date))::TIMESTAMP,
      date_trunc('month', greatest(started_local_date, last_local_date))::TIMESTAMP + INTERVAL 1 MONTH,
      INTERVAL 1 MONTH
    ))::DATE AS month_start
  FROM subscriptions
), first_states AS (
  SELECT location_id, id, arg_min_null(counts_as, seen_at) AS counts_as, arg_min_null(status, seen_at) AS status FROM living GROUP BY ALL
), counted AS (
  SELECT months.*,
    -- One that no reading saw alive was paid for until it ended.
    CASE WHEN living.id IS NOT NULL THEN living.counts_as WHEN first_states.id IS NOT NULL THEN first_states.counts_as ELSE 'recurring' END AS counts_as,
    CASE WHEN living.id IS NOT NULL THEN living.status WHEN first_states.id IS NOT NULL THEN first_states.status ELSE months.status END AS counted_status
  FROM months
  ASOF LEFT JOIN living
    ON living.location_id = months.location_id AND living.id = months.id
    AND living.seen_at < (month_start::TIMESTAMP + INTERVAL 1 MONTH) AT TIME ZONE local_zone
  LEFT JOIN first_states ON first_states.location_id = months.location_id AND first_states.id = months.id
)
SELECT
  location_id,
  id AS subscription_id,
  month_start,
  month_start + INTERVAL 1 MONTH <= read_local_date AS is_month_over,
  contact_id,
  coalesce(nullif(status, ''), 'unknown') AS subscription_status,
  counted_status,
  counts_as,
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
  END AS price_per_month,
  CASE counts_as WHEN 'recurring' THEN price_per_month WHEN 'trial' THEN 0 WHEN 'nothing' THEN 0 END AS monthly_amount,
  coalesce(month_start = date_trunc('month', started_local_date), false) AS is_first_month,
  coalesce(month_start = date_trunc('month', canceled_local_date), false) AS is_churn_month,
  sent_end_date IS NULL AND canceled_local_date IS NOT NULL AS is_end_from_reading
FROM counted
WHERE counts_as IS DISTINCT FROM 'not begun'

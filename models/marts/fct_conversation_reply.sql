-- Consecutive inbound messages are one question. Business hours are Monday to Friday, 9:00 to 17:00, in the location's
-- time zone; a reply outside them waits for none of that time. A message without a direction or a time is neither question nor
-- reply, and one that is known to have failed or to wait is no reply. Messages of the same time are in the order of their ids.
WITH messages AS (
  SELECT *,
    lag(direction) OVER following AS direction_before,
    first_value(CASE WHEN direction = 'outbound' AND counts_as IS DISTINCT FROM 'failed' AND counts_as IS DISTINCT FROM 'waiting' THEN message_id END IGNORE NULLS) OVER following AS reply_message_id
  FROM {{ ref('fct_message') }}
  WHERE is_between_people AND sent_at IS NOT NULL AND direction IN ('inbound', 'outbound')
  WINDOW following AS (
    PARTITION BY location_id, conversation_id ORDER BY sent_at, message_id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
  )
), replies AS (
  SELECT
    questions.location_id,
    questions.conversation_id,
    questions.contact_id,
    questions.message_id AS question_message_id,
    questions.sent_at AS asked_at,
    questions.sent_local AS asked_local,
    questions.sent_local_date AS asked_local_date,
    questions.reply_message_id,
    answers.sent_at AS replied_at,
    answers.user_id AS replied_by_user_id,
    answers.source AS reply_source,
    row_number() OVER (PARTITION BY questions.location_id, questions.conversation_id ORDER BY questions.sent_at, questions.message_id) = 1 AS is_first_question,
    locations.time_zone
  FROM messages AS questions
  LEFT JOIN messages AS answers ON answers.location_id = questions.location_id AND answers.message_id = questions.reply_message_id
  LEFT JOIN {{ ref('dim_location') }} AS locations ON locations.location_id = questions.location_id
  WHERE questions.direction = 'inbound' AND questions.direction_before IS DISTINCT FROM 'inbound'
), local_times AS (
  SELECT *,
    replied_at AT TIME ZONE time_zone AS replied_local
  FROM replies
), working_minutes AS (
  -- Working minutes since Monday, 1970-01-05: five days a week, and on each the minutes between 9:00 and 17:00.
  SELECT *,
    ((asked_local::DATE - DATE '1970-01-05') // 7) * 2400
      + least((asked_local::DATE - DATE '1970-01-05') % 7, 5) * 480
      + CASE WHEN isodow(asked_local) <= 5 THEN greatest(0, least(480, hour(asked_local) * 60 + minute(asked_local) - 540)) ELSE 0 END AS asked_minute,
    ((replied_local::DATE - DATE '1970-01-05') // 7) * 2400
      + least((replied_local::DATE - DATE '1970-01-05') % 7, 5) * 480
      + CASE WHEN isodow(replied_local) <= 5 THEN greatest(0, least(480, hour(replied_local) * 60 + minute(replied_local) - 540)) ELSE 0 END AS replied_minute
  FROM local_times
)
SELECT
  location_id,
  conversation_id,
  contact_id,
  question_message_id,
  asked_at,
  asked_local,
  asked_local_date,
  is_first_question,
  reply_message_id,
  replied_at,
  replied_by_user_id,
  reply_source,
  reply_message_id IS NOT NULL AS is_replied,
  round((epoch_ms(replied_at) - epoch_ms(asked_at)) / 60000, 2) AS reply_minutes,
  replied_minute - asked_minute AS reply_business_minutes
FROM working_minutes

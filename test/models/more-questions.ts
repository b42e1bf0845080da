/**
 * Fourteen questions that docs/models.md does not answer, asked of the models as their dictionary describes them, and again of the
 * tables, from which the answers are computed in another way.
 */
const zone = "(SELECT any_value(timezone) FROM crm.locations)"

export const moreQuestions: ReadonlyArray<readonly [question: string, models: string, tables: string]> = [
  [
    "what are the open deals of each location worth?",
    `SELECT location_name, o.currency, sum(monetary_value) AS worth FROM bi.fct_opportunity AS o
     JOIN bi.dim_location USING (location_id) WHERE is_open GROUP BY ALL`,
    `SELECT l.name, l.currency, sum(o.monetary_value) FROM crm.locations AS l, crm.opportunities AS o
     WHERE o.location_id = l.id AND o.status = 'open' AND o._deleted_at IS NULL GROUP BY ALL`
  ],
  [
    "what share of their closed deals do owners win?",
    `SELECT user_name, round(count(*) FILTER (is_won) / count(*), 3) AS share FROM bi.fct_opportunity AS o
     LEFT JOIN bi.dim_user AS u ON u.location_id = o.location_id AND u.user_id = o.assigned_user_id
     WHERE is_won OR is_lost GROUP BY ALL`,
    `SELECT (SELECT any_value(coalesce(nullif(name, ''), first_name || ' ' || last_name)) FROM crm.users AS u
         WHERE u.id = assigned_to AND u._deleted_at IS NULL AND u.deleted IS NOT TRUE) AS owner,
       round(avg(if(status = 'won', 1, 0)), 3)
     FROM crm.opportunities WHERE status IN ('won', 'lost') AND _deleted_at IS NULL GROUP BY owner`
  ],
  [
    "which tags do contacts with won deals have?",
    `SELECT tag, count(DISTINCT contact_id) AS contacts
     FROM (SELECT o.contact_id, unnest(c.tags) AS tag FROM bi.fct_opportunity AS o
       JOIN bi.dim_contact AS c USING (location_id, contact_id) WHERE is_won) GROUP BY ALL`,
    `SELECT tag, count(*) FROM crm.contact_tags WHERE _deleted_at IS NULL AND contact_id IN
       (SELECT contact_id FROM crm.opportunities WHERE status = 'won' AND _deleted_at IS NULL) GROUP BY ALL`
  ],
  [
    "how many contacts were never written to?",
    `SELECT count(*) AS contacts FROM bi.dim_contact AS c ANTI JOIN
       (FROM bi.fct_message WHERE direction = 'outbound' AND is_between_people) AS m USING (location_id, contact_id)`,
    `SELECT count(*) FROM crm.contacts AS c WHERE _deleted_at IS NULL AND NOT EXISTS (FROM crm.messages AS m
       WHERE m.contact_id = c.id AND m._deleted_at IS NULL AND m.direction = 'outbound'
         AND NOT regexp_matches(coalesce(m.message_type, ''), '^TYPE_(ACTIVITY|INTERNAL_COMMENT)'))`
  ],
  [
    "which five contacts have paid most?",
    `SELECT contact_id, currency, sum(value) AS paid FROM bi.fct_revenue WHERE is_live
     GROUP BY ALL ORDER BY paid DESC, contact_id LIMIT 5`,
    `SELECT contact_id, currency, sum(amount) - sum(coalesce(amount_refunded, 0)) AS paid FROM crm.transactions
     WHERE status IN ('succeeded', 'refunded', 'partially_refunded', 'disputed') AND live_mode IS NOT FALSE AND mark_as_test IS NOT TRUE AND _deleted_at IS NULL
     GROUP BY ALL ORDER BY paid DESC, contact_id LIMIT 5`
  ],
  [
    "on which day of the week do people not come?",
    `SELECT dayname(start_local) AS day, count(*) AS no_shows FROM bi.fct_appointment WHERE is_no_show GROUP BY ALL`,
    `SELECT dayname(start_time AT TIME ZONE ${zone}), count(*) FROM crm.appointments
     WHERE appointment_status = 'noshow' AND _deleted_at IS NULL AND deleted IS NOT TRUE GROUP BY ALL`
  ],
  [
    "at which hour do contacts write?",
    `SELECT hour(sent_local) AS hour, count(*) AS messages FROM bi.fct_message
     WHERE direction = 'inbound' AND is_between_people GROUP BY ALL`,
    `SELECT extract('hour' FROM date_added AT TIME ZONE ${zone}), count(*) FROM crm.messages WHERE direction = 'inbound'
       AND _deleted_at IS NULL AND NOT regexp_matches(coalesce(message_type, ''), '^TYPE_(ACTIVITY|INTERNAL_COMMENT)')
     GROUP BY ALL`
  ],
  [
    "how many contacts are there for each source and type?",
    "SELECT source, contact_type, count(*) AS contacts FROM bi.dim_contact GROUP BY ALL",
    "SELECT source, type, count(id) FROM crm.contacts WHERE _deleted_at IS NULL GROUP BY source, type"
  ],
  [
    "for how many days, on average, have open deals been in each stage?",
    `SELECT pipeline_stage_name, round(avg(DATE '2030-01-01' - changed_at::DATE), 2) AS days
     FROM bi.fct_opportunity JOIN (FROM bi.fct_opportunity_stage_change
       QUALIFY change_number = max(change_number) OVER (PARTITION BY location_id, opportunity_id)) AS last
       USING (location_id, opportunity_id)
     WHERE is_open GROUP BY ALL`,
    `SELECT s.name, round(avg(date_diff('day', coalesce(o.last_stage_change_at, o.created_at), TIMESTAMPTZ '2030-01-01 00:00:00Z')), 2)
     FROM crm.opportunities AS o LEFT JOIN crm.pipeline_stages AS s
       ON s.id = o.pipeline_stage_id AND s.pipeline_id = o.pipeline_id AND s._deleted_at IS NULL
     WHERE o.status = 'open' AND o._deleted_at IS NULL GROUP BY ALL`
  ],
  [
    "what was invoiced by line, and how much of it is paid?",
    `SELECT line_name, currency, sum(line_amount) AS invoiced, sum(line_amount) FILTER (invoice_status = 'paid') AS paid
     FROM bi.fct_invoice_line WHERE is_live GROUP BY ALL`,
    `SELECT t.name, coalesce(t.currency, i.currency) AS unit, sum(t.amount * t.qty)::DECIMAL(38, 7),
       sum(if(i.status = 'paid', t.amount * t.qty, NULL))::DECIMAL(38, 7)
     FROM crm.invoice_items AS t, crm.invoices AS i
     WHERE i.id = t.invoice_id AND i._deleted_at IS NULL AND t._deleted_at IS NULL AND i.live_mode IS NOT FALSE GROUP BY t.name, unit`
  ],
  [
    "what share of the e-mails of each month failed?",
    `SELECT date_trunc('month', sent_local_date)::DATE AS month, round(avg(is_failed::INTEGER), 3) AS share
     FROM bi.fct_email WHERE direction = 'outbound' GROUP BY ALL`,
    `SELECT date_trunc('month', date_added AT TIME ZONE ${zone})::DATE,
       round(count(*) FILTER (status IN ('failed', 'undelivered')) / count(status), 3)
     FROM crm.emails WHERE direction = 'outbound' AND _deleted_at IS NULL GROUP BY ALL`
  ],
  [
    "how many customers have ordered once, twice, and more often?",
    `SELECT least(orders, 3) AS orders, count(*) AS customers
     FROM (SELECT contact_id, count(DISTINCT order_id) AS orders FROM bi.fct_order_line WHERE is_live GROUP BY ALL) GROUP BY 1`,
    `SELECT least(n, 3), count(*) FROM (SELECT contact_id, count(*) AS n FROM crm.orders AS o WHERE _deleted_at IS NULL
         AND live_mode IS NOT FALSE AND EXISTS (FROM crm.order_items AS i WHERE i.order_id = o.id AND i._deleted_at IS NULL)
       GROUP BY contact_id) GROUP BY 1`
  ],
  [
    "how many overdue tasks does each user have?",
    `SELECT assigned_user_id, count(*) AS tasks FROM bi.fct_task WHERE is_overdue GROUP BY ALL`,
    `SELECT assigned_to, count(*) FROM crm.tasks AS t
     WHERE _deleted_at IS NULL AND deleted IS NOT TRUE AND completed IS NOT TRUE
       AND due_date < greatest(_synced_at, (SELECT max(complete_at) FROM meta.watermarks AS w
         WHERE w.resource = 'tasks' AND w.location_id = t.location_id)) GROUP BY ALL`
  ],
  [
    "how many calls were answered, and how long were they?",
    `SELECT direction, count(*) FILTER (is_answered) AS answered, sum(call_duration_seconds) FILTER (is_answered) AS seconds
     FROM bi.fct_call GROUP BY ALL`,
    `SELECT direction, count(*) FILTER (call_status IN ('completed', 'answered')),
       sum(if(call_status IN ('completed', 'answered'), call_duration_seconds, NULL))
     FROM crm.messages WHERE _deleted_at IS NULL AND message_type IN ('TYPE_CALL', 'TYPE_CAMPAIGN_VOICEMAIL') GROUP BY ALL`
  ]
]

-- A fixed range: a calendar that depends on the data would change every night.
SELECT
  date_day,
  isoyear(date_day) AS iso_year,
  week(date_day) AS iso_week,
  year(date_day) AS calendar_year,
  quarter(date_day) AS calendar_quarter,
  month(date_day) AS calendar_month,
  date_trunc('month', date_day)::DATE AS month_start,
  date_trunc('week', date_day)::DATE AS week_start,
  isodow(date_day) AS iso_day_of_week,
  isodow(date_day) >= 6 AS is_weekend
FROM (SELECT range::DATE AS date_day FROM range(TIMESTAMP '2010-01-01', TIMESTAMP '2041-01-01', INTERVAL 1 DAY))

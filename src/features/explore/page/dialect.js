/** The words of DuckDB's SQL that people write in queries: to complete, and to colour. */
import { SQLDialect } from "@codemirror/lang-sql"

const keywords = `all analyze and any anti as asc asof at between by case cast cross cube current describe desc distinct else end escape
  except exclude exists explain false filter first following for from full glob group grouping having ilike in inner intersect interval
  is isnull join last lateral left like limit materialized natural not notnull null nulls offset on only or order outer over
  partition pivot positional preceding qualify range recursive replace right rollup row rows sample select semi sets show similar
  some summarize table tablesample then ties time to true try_cast unbounded union unpivot using values when where window with
  within zone`

const functions = `abs any_value approx_count_distinct arg_max arg_min avg ceil coalesce concat concat_ws contains count
  count_if current_date date_diff date_part date_trunc day dayname dense_rank ends_with epoch epoch_ms extract first_value floor
  format greatest hour if ifnull json_extract json_extract_string lag last_day last_value lead least left length list lower lpad
  ltrim max md5 median min minute mode month monthname nullif ntile now percent_rank quantile_cont quarter rank regexp_extract
  regexp_matches regexp_replace replace right round row_number rpad rtrim split_part starts_with stddev strftime string_agg
  strptime substring sum today trim unnest upper week weekday year`

const types = `bigint blob boolean date decimal double float hugeint integer interval json map smallint struct time timestamp
  timestamptz tinyint ubigint uinteger uuid varchar`

export const duckdb = SQLDialect.define({ keywords, builtin: functions, types, operatorChars: "*+-%<>!=&|~/:@" })

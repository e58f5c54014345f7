/**
 * What a statement may call. Names, each of them all overloads: every function here reads nothing but its arguments, keeps nothing beyond
 * the statement, and reaches no setting, lock, file, large object or other query. Left out on purpose although harmless in kind: `repeat`,
 * `lpad`, `rpad` (a gigabyte from ten bytes), `random`, and whatever tells of the server.
 */
const words = (text: string): readonly string[] => text.trim().split(/\s+/);

export const allowedFunctions: ReadonlySet<string> = new Set([
  // aggregates and windows
  ...words(`count sum avg min max string_agg array_agg bool_and bool_or every json_agg jsonb_agg mode percentile_cont percentile_disc
    stddev stddev_pop stddev_samp variance var_pop var_samp corr covar_pop covar_samp regr_slope regr_intercept regr_r2
    row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value`),
  // numbers
  ...words('abs ceil ceiling floor round trunc sign mod div power pow sqrt cbrt exp ln log log10 width_bucket'),
  // texts
  ...words(`lower upper initcap length char_length character_length octet_length concat concat_ws left right substr substring position
    strpos split_part replace translate btrim ltrim rtrim reverse starts_with overlay chr ascii like_escape similar_to_escape
    regexp_replace regexp_match regexp_matches regexp_substr regexp_count regexp_like string_to_array array_to_string
    to_char to_date to_number to_timestamp`),
  // dates and times
  ...words(`date_trunc date_part extract date_bin age now make_date make_time make_timestamp make_interval timezone isfinite overlaps
    justify_days justify_hours justify_interval`),
  // sets and arrays
  ...words('generate_series unnest cardinality array_length array_position array_remove'),
  // json
  ...words(`json_build_object jsonb_build_object json_build_array jsonb_build_array to_json to_jsonb row_to_json json_array_length
    jsonb_array_length json_array_elements jsonb_array_elements json_array_elements_text jsonb_array_elements_text jsonb_typeof`),
]);

export const allowedOperators: ReadonlySet<string> = new Set(
  words('= <> != < > <= >= + - * / % ^ || ~ ~* !~ !~* ~~ ~~* !~~ !~~* -> ->> #> #>> @> <@ && ? ?| ?& ^@'),
);

/** Types of a cast, as `pg_type` names them. None that looks a name up in the catalogs (`regclass`, ...), no `xml`. */
export const allowedTypes: ReadonlySet<string> = new Set(
  words(`int2 int4 int8 numeric float4 float8 text varchar bpchar bool date time timetz timestamp timestamptz interval uuid json jsonb
    bytea`),
);

/** `current_date` and its kind; not `current_user` and its kind. */
export const allowedValueFunctions: ReadonlySet<string> = new Set(
  words(`SVFOP_CURRENT_DATE SVFOP_CURRENT_TIME SVFOP_CURRENT_TIME_N SVFOP_CURRENT_TIMESTAMP SVFOP_CURRENT_TIMESTAMP_N SVFOP_LOCALTIME
    SVFOP_LOCALTIME_N SVFOP_LOCALTIMESTAMP SVFOP_LOCALTIMESTAMP_N`),
);

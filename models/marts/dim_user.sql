SELECT
  location_id,
  id AS user_id,
  coalesce(nullif(name, ''), nullif(concat_ws(' ', nullif(first_name, ''), nullif(last_name, '')), '')) AS user_name,
  email,
  roles_type,
  roles_role,
  roles_role = 'admin' AS is_admin
FROM {{ ref('stg_users') }}
WHERE deleted IS NOT TRUE

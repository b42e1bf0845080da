SELECT
  stages.location_id,
  stages.pipeline_id,
  pipelines.name AS pipeline_name,
  stages.id AS pipeline_stage_id,
  stages.name AS pipeline_stage_name,
  stages.position AS stage_position,
  stages.stage_win_probability
FROM {{ ref('stg_pipeline_stages') }} AS stages
JOIN {{ ref('stg_pipelines') }} AS pipelines
  ON pipelines.location_id = stages.location_id AND pipelines.id = stages.pipeline_id

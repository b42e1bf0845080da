/** The settings of section `[fleet]`: many locations on many workers. Everything is off without a database. */
import { duration, httpAddress, positiveNumber, text } from "./kinds.ts"
import { type Setting, setting } from "./setting.ts"

export const fleetSettings = {
  database: setting(text, {
    environment: "SLUICE_FLEET_DATABASE",
    secret: true,
    description: "Address of the PostgreSQL database of the fleet, or a reference to it: postgres://user@host/name.",
    example: "env:FLEET_DATABASE"
  }),
  state: setting(text, {
    environment: "SLUICE_FLEET_STATE",
    description:
      "Where the output folder of each location is: a folder that every worker reaches, or s3://bucket/prefix.",
    default: "fleet"
  }),
  cache: setting(text, {
    environment: "SLUICE_FLEET_CACHE",
    description: "Folder of this machine in which the output folders are, if state is a bucket.",
    default: "fleet"
  }),
  s3_key: setting(text, {
    environment: "SLUICE_FLEET_S3_KEY",
    secret: true,
    description: "Key id for that bucket, or a reference to it.",
    example: "env:FLEET_S3_KEY"
  }),
  s3_secret: setting(text, {
    environment: "SLUICE_FLEET_S3_SECRET",
    secret: true,
    description: "Secret of that key, or a reference to it.",
    example: "env:FLEET_S3_SECRET"
  }),
  s3_region: setting(text, {
    description: "Region of that bucket.",
    default: "us-east-1"
  }),
  s3_endpoint: setting(httpAddress, {
    environment: "SLUICE_FLEET_S3_ENDPOINT",
    description: "Address of another service with the interface of S3; buckets are then part of the path.",
    example: "https://s3.example.com"
  }),
  token: setting(text, {
    environment: "SLUICE_FLEET_TOKEN",
    secret: true,
    description: "Reference to the token of each location, with {location} in the place of its id.",
    example: "file:/run/secrets/{location}"
  }),
  refresh_token: setting(text, {
    environment: "SLUICE_FLEET_REFRESH_TOKEN",
    secret: true,
    description:
      "Instead of tokens: reference to the first refresh token of each location, with {location}; the OAuth app is in [account].",
    example: "file:/run/secrets/refresh/{location}"
  }),
  agency_token: setting(text, {
    environment: "SLUICE_FLEET_AGENCY_TOKEN",
    secret: true,
    description: "Token that lists the locations for ./sluice fleet locations import, or a reference to it.",
    example: "env:AGENCY_TOKEN"
  }),
  parallel: setting(positiveNumber, {
    environment: "SLUICE_FLEET_PARALLEL",
    description: "Locations that a worker reads side by side; each needs the memory of a sync.",
    default: 4
  }),
  schedule: setting(text, {
    description: "When the workers queue a sync of every location, as five fields of a crontab. Without it, never.",
    example: "30 2 * * *"
  }),
  time_zone: setting(text, {
    description: "Time zone of that schedule.",
    default: "UTC"
  }),
  jitter: setting(duration, {
    description: "Time over which the locations of a night are spread.",
    default: "60m"
  })
} satisfies Readonly<Record<string, Setting>>

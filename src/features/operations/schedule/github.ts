/** A workflow for GitHub Actions. Its schedules are in UTC, so a time zone with daylight saving has one for each offset. */
import { type Schedule, type ScheduleFile, offsetsOf, timeText } from "./schedule.ts"

export const github = (schedule: Schedule, now: number): ReadonlyArray<ScheduleFile> => {
  const { timeZone, hour, minute } = schedule
  const times = offsetsOf(timeZone, now)
    .toSorted((one, other) => other - one)
    .map((offset) => {
      const utc = (((60 * hour + minute - offset) % 1440) + 1440) % 1440
      const sign = offset < 0 ? "-" : "+"
      const size = Math.abs(offset)
      const digits = (value: number) => String(value).padStart(2, "0")
      return {
        cron: `${utc % 60} ${Math.floor(utc / 60)} * * *`,
        offset: `${sign}${digits(Math.floor(size / 60))}${digits(size % 60)}`
      }
    })
  return [
    {
      path: ".github/workflows/sluice.yml",
      text: `# ${timeText(schedule)} in ${timeZone}, every night. The output must stay between runs and contains personal data, so the job needs a
# runner of your own, with a folder of its own: set its path in the variable SLUICE_OUTPUT of the repository.
# Needed on the runner: npm install --global ./sluice-x.y.z.tgz
name: sluice

on:
  workflow_dispatch:
  schedule:
    # In UTC${times.length > 1 ? ": one for each offset of the time zone. The job runs for the one that applies tonight" : ""}.
${times.map(({ cron, offset }) => `    - cron: "${cron}" # while ${timeZone} is at ${offset}`).join("\n")}

# Runs never overlap: a second one waits for the first.
concurrency:
  group: sluice
  cancel-in-progress: false

permissions:
  contents: read

jobs:
  sync:
    runs-on: self-hosted
    # A first sync may take longer; the next night resumes it.
    timeout-minutes: 720
    env:
      SLUICE_BASE_URL: \${{ vars.SLUICE_BASE_URL }}
      SLUICE_LOCATION_ID: \${{ vars.SLUICE_LOCATION_ID }}
      SLUICE_OUTPUT: \${{ vars.SLUICE_OUTPUT }}
      SLUICE_TOKEN: \${{ secrets.SLUICE_TOKEN }}
    steps:
      - name: Sync
        env:
          STARTED_BY: \${{ github.event.schedule }}
        run: |
          case "$STARTED_BY $(TZ=${timeZone} date +%z)" in
            ${times.map(({ cron, offset }) => `"${cron} ${offset}"`).join(" | ")} | " "*) ;;
            *) echo "Not the schedule of this half of the year."; exit 0 ;;
          esac
          # A night that was missed needs nothing: each run reads everything since the last complete one.
          for attempt in 1 2 3 4 5 6; do
            code=0
            sluice sync --wait 30m || code=$?
            # 75: the budget is spent or the service is down. Wait an hour and resume.
            [ "$code" -eq 75 ] && [ "$attempt" -lt 6 ] || break
            sleep 3600
          done
          case "$code" in
            0) ;;
            75) echo "::warning::The service allows no more requests for now; the next run resumes." ;;
            130 | 143) echo "::warning::Stopped, with everything saved; the next run resumes." ;;
            # 1 failed, 2 usage, 3 in part, 11 locked, 77 credentials, 78 settings.
            *) echo "::error::sluice sync ended with exit code $code"; exit "$code" ;;
          esac
      - name: Alarms about the data
        if: always()
        # Exit code 4 if there are any.
        run: sluice check
      - name: Keep the report of the run, without the data
        if: always()
        uses: actions/upload-artifact@v4
        with:
          name: report
          path: \${{ vars.SLUICE_OUTPUT }}/published/report/index.html
          retention-days: 7
          if-no-files-found: ignore
`
    }
  ]
}

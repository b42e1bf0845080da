/** A line for cron, and the script that it calls. */
import { nightlyScript, scriptName } from "./script.ts"
import { type Schedule, type ScheduleFile, shellText, timeText } from "./schedule.ts"

export const cron = (schedule: Schedule): ReadonlyArray<ScheduleFile> => {
  const path = `${schedule.folder}/${scriptName}`
  return [
    nightlyScript(schedule),
    {
      path: `${schedule.folder}/sluice.crontab`,
      text: `# Add these lines with: crontab -e   (as user ${schedule.user})
# cron knows one time zone and no missed nights, so the script decides every 15 minutes whether ${timeText(schedule)} in
# ${schedule.timeZone} has passed and tonight's run has not been done. All other calls end within milliseconds.
# Mail about a run that needs a person goes to this address:
# MAILTO=you@example.com
SHELL=/bin/sh
# In a crontab, % is a line end unless it has a backslash before it.
*/15 * * * * ${shellText(path).replaceAll("%", "\\%")}
`
    }
  ]
}

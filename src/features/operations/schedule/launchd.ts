/** A property list for launchd, and the script that it starts. */
import { nightlyScript, scriptName } from "./script.ts"
import type { Schedule, ScheduleFile } from "./schedule.ts"
import { timeText } from "./schedule.ts"

const xmlText = (value: string): string =>
  value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

export const launchd = (schedule: Schedule): ReadonlyArray<ScheduleFile> => {
  const { folder, output } = schedule
  return [
    nightlyScript(schedule),
    {
      path: "Library/LaunchAgents/local.sluice.plist",
      text: `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Copy this file to ~/Library/LaunchAgents, then: launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/local.sluice.plist
     launchd knows the time zone of the machine only, and forgets a night in which it was off. So it starts the script every
     15 minutes, and the script decides whether ${timeText(schedule)} in ${xmlText(schedule.timeZone)} has passed and tonight's run has not been done. -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>local.sluice</string>
  <key>ProgramArguments</key>
  <array>
    <string>/bin/sh</string>
    <string>${xmlText(`${folder}/${scriptName}`)}</string>
  </array>
  <key>WorkingDirectory</key>
  <string>${xmlText(folder)}</string>
  <!-- Seconds. launchd never starts a job that still works, so runs do not overlap. -->
  <key>StartInterval</key>
  <integer>900</integer>
  <key>RunAtLoad</key>
  <true/>
  <!-- Background work may be slowed down; a run mostly waits for the service. -->
  <key>ProcessType</key>
  <string>Background</string>
  <!-- A run that is stopped saves its state within seconds. -->
  <key>ExitTimeOut</key>
  <integer>120</integer>
  <!-- The script writes here only if a person has to act. -->
  <key>StandardOutPath</key>
  <string>${xmlText(`${output}/nightly.launchd.log`)}</string>
  <key>StandardErrorPath</key>
  <string>${xmlText(`${output}/nightly.launchd.log`)}</string>
</dict>
</plist>
`
    }
  ]
}

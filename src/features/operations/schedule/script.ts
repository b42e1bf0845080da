/**
 * A shell script for schedulers that know neither time zones nor missed nights: called every 15 minutes, it decides whether a
 * run is due. cron and launchd call it.
 */
import { type Schedule, type ScheduleFile, shellText, timeText } from "./schedule.ts"

export const scriptName = "sluice-nightly"

export const nightlyScript = (schedule: Schedule): ScheduleFile => {
  const { timeZone, program, folder, output, flags } = schedule
  return {
    path: `${folder}/${scriptName}`,
    isExecutable: true,
    text: `#!/bin/sh
# One sync a day, as soon as it is ${timeText(schedule)} in ${timeZone}. The scheduler calls this file every 15 minutes:
# - After a downtime, the next call makes up for the night.
# - When the clock changes, the night has one run too, also if it skips ${timeText(schedule)} or shows it twice.
# - While a run works, a second one ends at once (exit code 11), so runs never overlap.
# It prints something, which cron sends by mail, only if a person has to act.
set -u
umask 077
PATH=\${PATH:-/usr/local/bin:/usr/bin:/bin}
cd ${shellText(folder)} || exit 1
mkdir -p ${shellText(output)} || exit 1
state=${shellText(`${output}/nightly`)}
sluice=${shellText(program)}
# Variables that the settings refer to, such as the token, can be set in this file: CRM_TOKEN=...
if [ -r ${shellText(`${folder}/config/environment`)} ]; then
  set -a
  # shellcheck source=/dev/null
  . ${shellText(`${folder}/config/environment`)}
  set +a
fi

today=$(TZ=${shellText(timeZone)} date +%Y-%m-%d)
[ "$(TZ=${shellText(timeZone)} date +%H%M)" -ge ${timeText(schedule).replace(":", "")} ] || exit 0
# Tonight's run has ended.
[ "$(cat "$state.done" 2>/dev/null)" != "$today" ] || exit 0
# The last try ended because the service had no answer: wait an hour.
[ -z "$(find "$state.later" -mmin -60 2>/dev/null)" ] || exit 0

"$sluice" sync${flags} > "$state.log.new" 2>&1
code=$?
# Another run works: the next call tries again. Its log stays.
if [ "$code" -eq 11 ]; then rm -f "$state.log.new"; exit 0; fi
mv -f "$state.log.new" "$state.log"
case $code in
  0) echo "$today" > "$state.done" ;;
  # The budget is spent, the service is down, or the process was killed: the next run resumes, in an hour.
  75 | 137) touch "$state.later" ;;
  # Stopped by a signal, with everything saved: the next call resumes.
  130 | 143) exit 0 ;;
  # 1 failed, 2 usage, 3 in part, 77 credentials, 78 settings: a person has to act, and another try tonight would end the same.
  *)
    echo "$today" > "$state.done"
    echo "sluice sync ended with exit code $code. The end of $state.log:"
    tail -n 15 "$state.log"
    ;;
esac
# Once a day: alarms about the data (exit code 4), also while the service is down.
if [ "$(cat "$state.checked" 2>/dev/null)" != "$today" ]; then
  echo "$today" > "$state.checked"
  "$sluice" check${flags} > "$state.check.log" 2>&1 || cat "$state.check.log"
fi
`
  }
}

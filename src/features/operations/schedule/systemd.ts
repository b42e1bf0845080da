/** Units for systemd: a service, its timer, and what runs when the service has failed. */
import { type Schedule, type ScheduleFile, timeText } from "./schedule.ts"

/** As a word of an Exec line: quoted, without the meaning that systemd gives to % and $. */
const word = (value: string): string => {
  const escaped = value.replaceAll("%", "%%").replaceAll("$", "$$$$")
  return /^[\w./:@%+,=$-]+$/.test(escaped) ? escaped : `"${escaped.replaceAll(/["\\]/g, (one) => `\\${one}`)}"`
}

/** As the value of a setting that is one path. */
const path = (value: string): string => value.replaceAll("%", "%%")

/** `flags`: those of `schedule.flags`, as single words. */
export const systemd = (schedule: Schedule, flags: ReadonlyArray<string>): ReadonlyArray<ScheduleFile> => {
  const { timeZone, program, folder, user } = schedule
  const command = (...args: ReadonlyArray<string>) => [program, ...args, ...flags].map(word).join(" ")
  const common = `User=${user}
WorkingDirectory=${path(folder)}
UMask=0077
# Variables that the settings refer to, such as the token, can be set in this file: CRM_TOKEN=...
EnvironmentFile=-${path(folder)}/config/environment
ProtectSystem=full
PrivateTmp=yes
NoNewPrivileges=yes`
  return [
    {
      path: "/etc/systemd/system/sluice.service",
      text: `# The nightly run. After copying the three files: systemctl daemon-reload && systemctl enable --now sluice.timer
# Try it with: systemctl start sluice.service; read its log with: journalctl -u sluice.service
[Unit]
Description=Nightly sync of sluice
Wants=network-online.target
After=network-online.target
# Starts when the service has failed for good: not before a restart that is still to come.
OnFailure=sluice-failed.service
# At most ten starts a night.
StartLimitIntervalSec=20h
StartLimitBurst=10

[Service]
# A timer does not start a service that still works, so runs do not overlap.
Type=oneshot
${common}
ExecStart=${command("sync", "--wait", "30m")}
# Alarms about the data end with exit code 4.
ExecStart=${command("check")}
# A first sync may take more than a day.
TimeoutStartSec=infinity
# A run that is stopped saves its state within seconds.
TimeoutStopSec=2min
# Exit code 0: done. 130 and 143: stopped, with everything saved; the next night resumes.
SuccessExitStatus=130 143
# 75, the budget is spent or the service is down, and a signal that killed it, for example for its memory: the next try resumes.
Restart=on-failure
RestartSec=1h
# 1 failed, 2 usage, 3 in part, 4 alarms, 11 locked by another run for 30 minutes, 77 credentials, 78 settings: a person has
# to act, and another try would end the same.
RestartPreventExitStatus=1 2 3 4 11 77 78
`
    },
    {
      path: "/etc/systemd/system/sluice.timer",
      text: `[Unit]
Description=Every night at ${timeText(schedule)} in ${timeZone}

[Timer]
# The time zone makes it follow daylight saving.
OnCalendar=*-*-* ${timeText(schedule)}:00 ${timeZone}
# If the machine was off at that time, the run starts when it is back.
Persistent=true
# Not all machines at the same second.
RandomizedDelaySec=5min

[Install]
WantedBy=timers.target
`
    },
    {
      path: "/etc/systemd/system/sluice-failed.service",
      text: `# Starts when the nightly run has failed. It writes the state and the alarms to the journal, and sends what changed to the
# places under [signals] in the settings; put a command of your own here to hear of it in another way.
[Unit]
Description=Says why the nightly sync of sluice failed

[Service]
Type=oneshot
${common}
ExecStart=${command("check")}
# 4: there are alarms, which is why this runs.
SuccessExitStatus=4
`
    }
  ]
}

/** A CronJob for Kubernetes, with its volume. */
import { sluiceVersion } from "../../../values/version.ts"
import type { Schedule, ScheduleFile } from "./schedule.ts"

export const kubernetes = ({ hour, minute, timeZone }: Schedule): ReadonlyArray<ScheduleFile> => [
  {
    path: "sluice.yaml",
    text: `# kubectl apply --filename sluice.yaml, after this:
#   kubectl create secret generic sluice --from-literal=SLUICE_BASE_URL=https://api.example.com \\
#     --from-literal=SLUICE_LOCATION_ID=locationId --from-file=SLUICE_TOKEN=token.txt
# The image is built with: docker build --tag sluice:${sluiceVersion} .
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: sluice
spec:
  # One pod at a time writes it; DuckDB needs a file system with locks.
  accessModes: [ReadWriteOnce]
  resources:
    requests:
      storage: 20Gi
---
apiVersion: batch/v1
kind: CronJob
metadata:
  name: sluice
spec:
  schedule: "${minute} ${hour} * * *"
  # Follows daylight saving.
  timeZone: ${timeZone}
  # Runs never overlap.
  concurrencyPolicy: Forbid
  # After a downtime of the cluster, a night is made up for within 20 hours.
  startingDeadlineSeconds: 72000
  successfulJobsHistoryLimit: 3
  failedJobsHistoryLimit: 7
  jobTemplate:
    spec:
      # Tries of a pod that was killed, evicted, or out of memory. The next one resumes.
      backoffLimit: 4
      # Ends before the next night begins. The run is stopped, saves its state, and is resumed then.
      activeDeadlineSeconds: 82800
      podFailurePolicy:
        rules:
          # A person has to act, and another try would end the same: 1 failed, 2 usage, 3 in part, 4 alarms, 11 locked by
          # another run, 77 credentials, 78 settings.
          - action: FailJob
            onExitCodes:
              containerName: sluice
              operator: In
              values: [1, 2, 3, 4, 11, 77, 78]
          # A node that is drained is no failure of the run.
          - action: Ignore
            onPodConditions:
              - type: DisruptionTarget
                status: "True"
      template:
        spec:
          restartPolicy: Never
          # Stopped runs save their state within seconds.
          terminationGracePeriodSeconds: 120
          automountServiceAccountToken: false
          securityContext:
            runAsNonRoot: true
            runAsUser: 10001
            runAsGroup: 10001
            fsGroup: 10001
            seccompProfile:
              type: RuntimeDefault
          containers:
            - name: sluice
              image: sluice:${sluiceVersion}
              # 75, the budget is spent or the service is down: wait an hour and resume, until the deadline above.
              # Then alarms about the data (exit code 4); without them, the exit code of the sync.
              command:
                - /bin/sh
                - -c
                - |
                  trap 'kill -TERM "$pid"; wait "$pid"; exit $?' TERM
                  while :; do
                    sluice sync & pid=$!
                    wait "$pid"
                    code=$?
                    [ "$code" -eq 75 ] || break
                    sluice check || true
                    sleep 3600 & pid=$!
                    wait "$pid"
                  done
                  sluice check || [ "$code" -ne 0 ] || code=$?
                  exit "$code"
              envFrom:
                - secretRef:
                    name: sluice
              securityContext:
                allowPrivilegeEscalation: false
                readOnlyRootFilesystem: true
                capabilities:
                  drop: [ALL]
              resources:
                requests:
                  cpu: 100m
                  memory: 512Mi
                limits:
                  memory: 1Gi
              volumeMounts:
                - name: data
                  mountPath: /data
                - name: tmp
                  mountPath: /tmp
          volumes:
            - name: data
              persistentVolumeClaim:
                claimName: sluice
            - name: tmp
              emptyDir: {}
`
  }
]

# sluice as a container: docker build --tag sluice . && docker run --rm --read-only --tmpfs /tmp --volume sluice:/data \
#   --env SLUICE_BASE_URL --env SLUICE_LOCATION_ID --env SLUICE_TOKEN sluice sync
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /sluice
COPY . .
RUN npm ci && npm pack --pack-destination /tmp && npm install --global --prefix /opt/sluice /tmp/sluice-*.tgz

# The package brings its own Node.
FROM debian:bookworm-slim
COPY --from=build /opt/sluice /opt/sluice
ENV PATH=/opt/sluice/bin:/usr/local/bin:/usr/bin:/bin
# Settings are read from /data/config/sluice.toml, and the output is /data/output; that of a demo is /data/demo-output.
RUN install --directory --owner=10001 --group=10001 --mode=0700 /data
WORKDIR /data
VOLUME /data
USER 10001:10001
# For a container that keeps running: unhealthy while there are alarms.
HEALTHCHECK --interval=15m --timeout=1m CMD ["sluice", "check"]
ENTRYPOINT ["sluice"]
CMD ["sync"]

# sluice as a container with its page at http://127.0.0.1:8787; the log has the link that opens it:
#   docker build --tag sluice . && docker run --read-only --tmpfs /tmp --volume sluice:/data --publish 127.0.0.1:8787:8787 sluice
# One run, without the page: docker run --rm --read-only --tmpfs /tmp --volume sluice:/data \
#   --env SLUICE_BASE_URL --env SLUICE_LOCATION_ID --env SLUICE_TOKEN sluice sync
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /sluice
COPY . .
# The Node of the package brings 67 MB of headers, with which nothing here is compiled.
RUN npm ci && npm pack --pack-destination /tmp && npm install --global --prefix /opt/sluice /tmp/sluice-*.tgz \
  && rm -r /opt/sluice/lib/node_modules/sluice/node_modules/node-linux-*/include

# The package brings its own Node.
FROM debian:bookworm-slim
COPY --from=build /opt/sluice /opt/sluice
ENV PATH=/opt/sluice/bin:/usr/local/bin:/usr/bin:/bin XDG_CACHE_HOME=/data/.cache
# Settings are read from /data/config/sluice.toml, and the output is /data/output; that of a demo is /data/demo-output.
RUN install --directory --owner=10001 --group=10001 --mode=0700 /data
WORKDIR /data
VOLUME /data
USER 10001:10001
EXPOSE 8787
# Whether the page answers and the schedule looks at the time; alarms about the data are for people.
HEALTHCHECK --interval=1m --timeout=10s --start-period=1m CMD ["/bin/bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8787 && printf 'GET /healthz HTTP/1.0\\r\\nHost: 127.0.0.1:8787\\r\\n\\r\\n' >&3 && grep -q '^ok' <&3"]
ENTRYPOINT ["sluice"]
CMD ["serve", "--listen", "0.0.0.0"]

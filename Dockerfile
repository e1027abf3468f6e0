# npm run serve in a container: docs/self-hosting.md#in-containers
# workerd needs the C library of Debian, so this isn't an Alpine image.
FROM node:26-slim

# workerd checks the certificates of hooks and of JWKS addresses with those of the system.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/* \
  && install --directory --owner=node --group=node /dormouse \
  && install --directory --owner=node --group=node --mode=700 /state

USER node
WORKDIR /dormouse

# With the optional packages: workerd and esbuild have their programs there. wrangler, which makes the bundle at each
# start, is a development dependency.
COPY --chown=node:node package.json package-lock.json ./
COPY --chown=node:node examples/chat-rooms/package.json examples/chat-rooms/
COPY --chown=node:node examples/shared-board/package.json examples/shared-board/
RUN npm ci --no-audit --no-fund

COPY --chown=node:node tsconfig.json wrangler.toml ./
COPY --chown=node:node cli cli
COPY --chown=node:node console console
COPY --chown=node:node public public
COPY --chown=node:node src src
COPY --chown=node:node workers workers

ENV PORT=8787
EXPOSE 8787
VOLUME /state
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]

# The script of `npm run serve` without npm, which doesn't pass on signals when it is ended itself.
CMD ["sh", "-c", "exec node_modules/.bin/node cli/serve/serve.ts --host 0.0.0.0 --port \"$PORT\" --state /state"]

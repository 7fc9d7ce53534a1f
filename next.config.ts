import { existsSync } from 'node:fs';
import type { NextConfig } from 'next';

const config: NextConfig = {
  reactStrictMode: true,
  poweredByHeader: false,
  // The API planes answer every spelling of a path themselves, in their own envelope.
  skipTrailingSlashRedirect: true,
  skipProxyUrlNormalize: true,
  // Schemas of `server/` and of pages are put together when pages are drawn on the server.
  serverExternalPackages: ['zod'],
  // Types are the business of `npm run check`: a start on a customer's machine must not depend on test files.
  typescript: { ignoreBuildErrors: true },
  // The Markdown twin of each page of the documentation.
  rewrites: async () => [{ source: '/docs/:slug([a-z-]+).md', destination: '/api/docs/:slug' }],
  turbopack: {
    root: import.meta.dirname,
    // What pages and routes import from `server/` is loaded by Node as it is, not compiled: the process has each module once. Browsers get what Next builds.
    rules: { './server/**/*.ts': { condition: { not: 'browser' }, loaders: ['./scripts/server-loader.mjs'], as: '*.cjs' } },
  },
  // `npm run dev`: React would wait for what the server says of a page over a socket, found by headers (x-nextjs-*) that our front door takes off
  // every call, and a navigation would never end. Without the channel the same comes with the page.
  // Pages are few: a worker more to collect them costs a small machine longer to begin than it saves.
  // Maps are for development: of a build they are 33 MB and a tenth of its memory, and Node runs `server/` unchanged.
  // What a build remembers for the next one takes it half as long again, and 300 MB: that is for those who build again.
  experimental: {
    reactDebugChannel: false,
    cpus: 1,
    turbopackSourceMaps: process.env.NODE_ENV === 'development',
    turbopackFileSystemCacheForBuild: existsSync(`${import.meta.dirname}/.next/BUILD_ID`),
  },
};

export default config;

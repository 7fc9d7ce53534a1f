import { existsSync } from 'node:fs';
import type { NextConfig } from 'next';

const config: NextConfig = {
  reactStrictMode: true,
  poweredByHeader: false,
  // The API planes answer every spelling of a path themselves, in their own envelope.
  skipTrailingSlashRedirect: true,
  skipProxyUrlNormalize: true,
  serverExternalPackages: ['pg', 'pino', 'ioredis', 'nodemailer', 'graphile-worker', 'maxmind', '@clickhouse/client'],
  // Types are the business of `npm run check`: a start on a customer's machine must not depend on test files.
  typescript: { ignoreBuildErrors: true },
  // The Markdown twin of each page of the documentation.
  rewrites: async () => [{ source: '/docs/:slug([a-z-]+).md', destination: '/api/docs/:slug' }],
  turbopack: { root: import.meta.dirname },
  // `npm run dev`: React would wait for what the server says of a page over a socket, found by headers (x-nextjs-*) that our front door takes off
  // every call, and a navigation would never end. Without the channel the same comes with the page.
  // Pages are few: a worker more to collect them costs a small machine longer to begin than it saves.
  // What a build remembers for the next one takes it half as long again, and 300 MB: that is for those who build again.
  experimental: {
    reactDebugChannel: false,
    cpus: 1,
    turbopackFileSystemCacheForBuild: existsSync(`${import.meta.dirname}/.next/BUILD_ID`),
  },
};

export default config;

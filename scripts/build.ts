import { compressFiles } from '../server/platform/static-files.ts';
import { filesUnder, hashOf, Problem, refresh, root, run } from './command.ts';

const sources = ['app', 'components', 'server', 'public', 'package-lock.json', 'next.config.ts', 'postcss.config.mjs'];

/** `next build` when anything that goes into it has changed since the last one; true when it built. `niceness` leaves the processor to others; without it the build has that of its caller. */
export function buildWeb(niceness?: number): Promise<boolean> {
  const inputs = sources.flatMap(filesUnder).filter((file) => !/\.test\.tsx?$/.test(file) && !file.startsWith('server/testing'));
  const wanted = hashOf(...inputs, 'server/generated/prisma/.made-from');
  return refresh('.next/.made-from', wanted, async () => {
    console.log('Building the dashboard (about a minute) ...');
    const { code, output } = await run(process.execPath, [`${root}/node_modules/next/dist/bin/next`, 'build'], {
      env: { NODE_ENV: 'production' },
      ...(niceness === undefined ? {} : { niceness }),
    });
    if (code !== 0) throw new Problem(`Building the dashboard failed:\n${output.trim().slice(-6000)}`);
    await compressFiles('.next/static');
  });
}

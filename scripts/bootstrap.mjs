// Plain JavaScript on builtins only: it runs on any Node >= 18 in a fresh clone, before anything is installed.
//   node scripts/bootstrap.mjs start | dev | test | check | doctor ...   runs scripts/<what>.ts on the packaged Node
//   node scripts/bootstrap.mjs exec <tool> ...                           runs an installed tool on the packaged Node
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const neededNode = 24;

process.chdir(root);
const manifest = JSON.parse(fs.readFileSync('package.json', 'utf8'));
const [what, ...rest] = process.argv.slice(2);
const script = `scripts/${what}.ts`;
if (!what || (what !== 'exec' && what !== 'dev' && !fs.existsSync(script))) {
  const known = fs.readdirSync('scripts').filter((name) => fs.existsSync(path.join('scripts', name)) && isCommand(name));
  refuse(`Usage: bootstrap.mjs <${known.map((name) => name.replace('.ts', '')).join(' | ')} | exec <tool>>`);
}
if (what === 'exec' && rest.length === 0) refuse('Usage: exec <tool> ...');
installPackages(manifest.developmentCommands.includes(what));
const node = packagedNode();
const tools = [path.dirname(node), path.join(root, 'node_modules/.bin'), process.env.PATH].join(path.delimiter);
const env = {
  NODE_COMPILE_CACHE: path.join(root, 'node_modules/.cache/compiled'), // a second start loads the service in two thirds of the time
  ...process.env,
  PATH: tools,
  NEXT_TELEMETRY_DISABLED: '1',
  CHECKPOINT_DISABLE: '1',
};
if (what === 'dev') become(node, ['scripts/start.ts', '--dev', ...rest]);
else if (what === 'exec') become(rest[0], rest.slice(1));
else become(node, [script, ...rest]);

/** Commands are the scripts that package.json offers; the rest of the folder is their parts. */
function isCommand(name) {
  return Object.keys(manifest.scripts).some((command) => `${command}.ts` === name);
}

/**
 * Installs what the lockfile says: the packages that the product runs, and for commands of developers those of development too. No install script of any package
 * is ever run. Packages that are missing from a current installation are added to it: a system that runs from this checkout keeps the files it has loaded.
 */
function installPackages(development) {
  const stamp = 'node_modules/.installed-for';
  const lockfile = createHash('sha256').update(fs.readFileSync('package-lock.json')).digest('hex');
  const [installed, extent = 'everything'] = fs.existsSync(stamp) ? fs.readFileSync(stamp, 'utf8').split(' ') : ['', 'product'];
  const current = installed === lockfile;
  if (current && (extent === 'everything' || !development)) return;
  const everything = development || extent === 'everything';
  // `npm ci` empties node_modules first, `npm install` only adds what is missing.
  const command = current ? ['install', '--no-save'] : ['ci'];
  console.error(`Installing packages (npm ${command[0]}) ...`);
  const began = performance.now();
  const npm = spawnSync(
    'npm',
    [
      ...command,
      ...['--ignore-scripts', everything ? '--include=dev' : '--omit=dev', '--include=optional'],
      ...['--no-audit', '--no-fund', '--loglevel=error'],
    ],
    {
      stdio: ['ignore', 2, 2], // standard output belongs to the command that was asked for
      shell: process.platform === 'win32',
      // npm would leave development packages out of an installation of everything when NODE_ENV is production.
      env: { ...process.env, NODE_ENV: '' },
    },
  );
  if (npm.error) refuse(`npm was not found (${npm.error.message}). Install npm, which comes with Node.`);
  if (npm.status !== 0)
    refuse(
      `npm ${command[0]} failed with code ${npm.status ?? npm.signal}. See its message above. A proxy or an offline registry is the usual reason.`,
    );
  console.error(`Installed packages in ${((performance.now() - began) / 1000).toFixed(0)} s.`);
  fs.writeFileSync(stamp, `${lockfile} ${everything ? 'everything' : 'product'}`);
}

/** The Node in the lockfile, so that every machine runs the same one; by path, since npm 10 does not link it into .bin and npm 11 does. */
function packagedNode() {
  const packaged = path.join(root, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
  const major = Number(process.versions.node.split('.')[0]);
  if (fs.existsSync(packaged)) {
    const probe = spawnSync(packaged, ['-p', '1'], { encoding: 'utf8' });
    if (probe.status === 0) return packaged;
    if (major < neededNode)
      refuse(
        `The packaged Node doesn't run here (${(probe.stderr || String(probe.error)).trim().split('\n')[0]}). Install Node ${neededNode} or newer.`,
      );
  }
  if (major < neededNode)
    refuse(`Node ${neededNode} or newer is required on ${process.platform}-${process.arch}. This is ${process.versions.node}.`);
  return process.execPath;
}

/** Runs the command with this terminal, passes signals on, and ends as it ends. */
function become(command, args) {
  const child = spawn(command, args, { stdio: 'inherit', env });
  // A terminal's Ctrl-C reaches the child by itself; a supervisor's signal does not. Either way this process must outlive the child.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => (signal === 'SIGINT' && process.stdin.isTTY ? undefined : child.kill(signal)));
  // npm runs this through a shell, and a signal to npm ends the shell without being passed on: its end is the signal then.
  const parent = process.ppid;
  if (process.env.npm_lifecycle_event) setInterval(() => process.ppid === parent || child.kill('SIGTERM'), 500).unref();
  child.on('error', (error) => refuse(`${command} could not be started: ${error.message}`));
  child.on('exit', (code, signal) =>
    process.exit(code ?? (signal ? 128 + ({ SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }[signal] ?? 1) : 1)),
  );
}

function refuse(sentence) {
  console.error(sentence);
  process.exit(1);
}

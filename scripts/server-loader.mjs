import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');

/**
 * Replaces a file of `server/` in what Next builds for the server by one line that has Node load the file itself, as gateway and worker do. Named from the working
 * directory, so that a checkout can be built in one place and run in another.
 */
export default function leaveToNode() {
  const file = `./${path.relative(root, this.resourcePath).split(path.sep).join('/')}`;
  return `module.exports = process.getBuiltinModule('node:module').createRequire(process.cwd() + '/')(${JSON.stringify(file)});`;
}

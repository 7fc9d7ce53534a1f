import { type Env, EnvError, parseEnv } from '../server/platform/env.ts';
import { failInWords } from './command.ts';
import { clockFinding, redisReading, releaseFinding } from './doctor/clock.ts';
import { database } from './doctor/database.ts';
import { bad, type Finding } from './doctor/finding.ts';
import { disks, nodeVersion, pictures } from './doctor/machine.ts';
import { countries, localAddresses, mail, names, ports, reachable } from './doctor/network.ts';
import { rootKey } from './doctor/root-key.ts';
import { settingsFindings } from './doctor/settings.ts';
import { otherSettings } from './installation.ts';
import { pricesProblem } from './prices-file.ts';

// npm run doctor: what this installation stands on, one line a thing, with the next step where something is wrong. Changes nothing.

failInWords();
const COUNTING_ALONE =
  'Until then, each gateway counts limits of routes and workspaces by itself, limits of API keys are not applied, and SCIM answers 503.';
let worst = 0;
report('Node', nodeVersion());
const env = await readEnv();
const { id, finding } = rootKey(env);
report('Root key', finding);
for (const one of disks(env)) report('Disk', one);
const early = releaseFinding();
if (early) report('Clock', early);
await database(env, id, report);
const reading = await redisReading(env);
if (reading) report('Clock', clockFinding(reading));
for (const one of await ports(env)) report('Port', one);
for (const one of localAddresses(env)) report('Address', one);
for (const one of await names(env)) report('DNS', one);
report('Mail', await mail(env));
report('Pictures', await pictures());
if (env.GEOIP_DB_PATH) report('Countries', await countries(env.GEOIP_DB_PATH));
if (env.REDIS_URL) report('Redis', await reachable(env.REDIS_URL, 6379, 'REDIS_URL', COUNTING_ALONE));
process.exit(worst === 2 ? 1 : 0);

function report(what: string, { state, says, next }: Finding): void {
  worst = Math.max(worst, ['OK', 'WARN', 'FAIL'].indexOf(state));
  console.log(`${state.padEnd(5)}${what.padEnd(13)}${says}${next ? `\n${' '.repeat(18)}-> ${next}` : ''}`);
}

/** Ends here when the settings are wrong, or not those of the service: what follows would be about another installation. */
async function readEnv(): Promise<Env> {
  try {
    const parsed = parseEnv(process.env);
    for (const one of settingsFindings(parsed, process.env)) report('Settings', one);
    const unpriced = pricesProblem();
    if (unpriced !== undefined) report('Settings', bad(unpriced, "The service doesn't start until this is fixed."));
    const problem = await otherSettings(parsed);
    if (problem === undefined) return parsed;
    report('Settings', bad(problem, 'Then run doctor again.'));
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    for (const problem of error.problems) report('Settings', bad(problem, 'Fix or unset this variable.'));
  }
  process.exit(1);
}

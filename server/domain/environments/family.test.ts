import { testFamily } from '#server/testing/suites.ts';
import { environments } from './family.ts';

await testFamily(environments);

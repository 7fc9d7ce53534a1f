import { testFamily } from '#server/testing/suites.ts';
import { deployment } from './family.ts';

await testFamily(deployment);

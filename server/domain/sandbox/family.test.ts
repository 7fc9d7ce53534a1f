import { testFamily } from '#server/testing/suites.ts';
import { sandbox } from './family.ts';

await testFamily(sandbox);

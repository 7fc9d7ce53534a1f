import { testFamily } from '#server/testing/suites.ts';
import { migrations } from './family.ts';

await testFamily(migrations);

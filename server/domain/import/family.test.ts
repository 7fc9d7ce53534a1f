import { testFamily } from '#server/testing/suites.ts';
import { imports } from './family.ts';

await testFamily(imports);

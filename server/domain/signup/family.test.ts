import { testFamily } from '#server/testing/suites.ts';
import { signup } from './family.ts';

await testFamily(signup);

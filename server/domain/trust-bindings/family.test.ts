import { testFamily } from '#server/testing/suites.ts';
import { trustBindings } from './family.ts';

await testFamily(trustBindings);

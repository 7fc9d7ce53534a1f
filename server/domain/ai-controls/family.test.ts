import { testFamily } from '#server/testing/suites.ts';
import { aiControls } from './family.ts';

await testFamily(aiControls);

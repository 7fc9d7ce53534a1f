import { testFamily } from '#server/testing/suites.ts';
import { logStreams } from './family.ts';

await testFamily(logStreams);

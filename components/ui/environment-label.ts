import { createContext, useContext } from 'react';

/** Whether the page shows the Test space. */
export const InTestContext = createContext(false);

const LIVE_NAME = /^(?:prod(?:uction)?|live)$/i;

/** An environment's name as pages show it: inside Test, one that sounds like production says that it isn't. */
export const environmentLabel = (name: string, inTest: boolean): string => (inTest && LIVE_NAME.test(name) ? `${name} (Test)` : name);

export function useEnvironmentLabel(): (name: string) => string {
  const inTest = useContext(InTestContext);
  return (name) => environmentLabel(name, inTest);
}

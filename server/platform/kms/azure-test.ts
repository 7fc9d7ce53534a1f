import { createDefaultHttpClient, createHttpHeaders, type HttpClient } from '@azure/core-rest-pipeline';

/** Sends what is meant for a vault or a directory to a server of the test instead; the settings refuse the address outside of test mode. */
export function testHttpClient(origin: string): HttpClient {
  const http = createDefaultHttpClient();
  return {
    sendRequest(request) {
      const { host, pathname, search } = new URL(request.url);
      const headers = createHttpHeaders({ ...request.headers.toJSON(), 'x-asked-host': host });
      return http.sendRequest({ ...request, headers, url: `${origin}${pathname}${search}`, allowInsecureConnection: true });
    },
  };
}

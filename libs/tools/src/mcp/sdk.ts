/** The official SDK takes half a second to load, so it is loaded when the first server is wanted. */
export async function loadSdk() {
  const [{ Client }, { getDefaultEnvironment }, { StreamableHTTPClientTransport }] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/stdio.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
  ]);
  return { Client, getDefaultEnvironment, StreamableHTTPClientTransport };
}

export type Sdk = Awaited<ReturnType<typeof loadSdk>>;
export type McpClient = InstanceType<Sdk['Client']>;
export type Transport = Parameters<McpClient['connect']>[0];
export type Message = Parameters<Transport['send']>[0];
export type Fetch = NonNullable<NonNullable<ConstructorParameters<Sdk['StreamableHTTPClientTransport']>[1]>['fetch']>;

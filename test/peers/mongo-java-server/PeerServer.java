import de.bwaldvogel.mongo.MongoBackend;
import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.util.List;

/**
 * mongo-java-server as the store's tests need it: on the loopback interface, with a change log, and with the version of
 * a server that today's drivers talk to (the stock one reports wire version 8).
 *
 * Arguments: port (0: any free one), then optionally a file for the H2 backend (none: in memory). Prints
 * "listening on PORT" when it accepts connections and ends in an orderly way when its standard input ends.
 */
public final class PeerServer {
  private PeerServer() {}

  private static final class Version50 implements MongoVersion {
    @Override
    public List<Integer> getVersionArray() {
      return List.of(5, 0, 0);
    }

    @Override
    public int getWireVersion() {
      return 13;
    }
  }

  public static void main(String[] arguments) throws Exception {
    int port = Integer.parseInt(arguments[0]);
    MongoBackend backend = arguments.length > 1 ? new H2Backend(arguments[1]) : new MemoryBackend();
    backend.version(new Version50());
    MongoServer server = new MongoServer(backend);
    server.enableOplog();
    server.bind("127.0.0.1", port);
    System.out.println("listening on " + server.getLocalAddress().getPort());
    System.out.flush();
    while (System.in.read() != -1) {
      // Only the end of the stream matters: the parent is gone or wants an orderly stop.
    }
    server.shutdownNow();
    System.exit(0);
  }
}

import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXResult;
import org.deidentifier.arx.AttributeType;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.DataHandle;
import org.deidentifier.arx.criteria.DistinctLDiversity;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;

/**
 * LocalRecoding FOLDER K L: ARX's local recoding of FOLDER/table.csv, with the settings ARX's own window chooses for it: the loss
 * metric that favours suppression, then 100 rounds over what is still suppressed. The last column is sensitive; every other one has its
 * hierarchy in FOLDER/NAME.csv. Writes FOLDER/recoded.csv in the order of the rows and prints the CPU seconds.
 */
public final class LocalRecoding {
    private static final double SHARE = 1d / 100d;

    public static void main(String[] words) throws Exception {
        Path folder = Path.of(words[0]);
        int k = Integer.parseInt(words[1]);
        int l = Integer.parseInt(words[2]);
        List<String[]> rows = cells(folder.resolve("table.csv"));
        String[] names = rows.get(0);
        String sensitive = names[names.length - 1];

        Data data = Data.create(rows);
        for (int column = 0; column < names.length - 1; column++) {
            List<String[]> hierarchy = cells(folder.resolve(names[column] + ".csv"));
            data.getDefinition().setAttributeType(names[column], Hierarchy.create(hierarchy.toArray(new String[0][])));
        }
        ARXConfiguration config = ARXConfiguration.create();
        config.addPrivacyModel(new KAnonymity(k));
        if (l > 1) {
            data.getDefinition().setAttributeType(sensitive, AttributeType.SENSITIVE_ATTRIBUTE);
            config.addPrivacyModel(new DistinctLDiversity(sensitive, l));
        } else {
            data.getDefinition().setAttributeType(sensitive, AttributeType.INSENSITIVE_ATTRIBUTE);
        }
        config.setSuppressionLimit(1d - SHARE);
        config.setQualityModel(Metric.createLossMetric(0d));

        long before = cpu();
        ARXResult result = new ARXAnonymizer().anonymize(data, config);
        DataHandle output = result.getOutput();
        if (output == null) {
            throw new IllegalStateException("ARX found no transformation");
        }
        result.optimizeIterativeFast(output, SHARE);
        double seconds = (cpu() - before) / 1e9;

        try (PrintWriter file = new PrintWriter(Files.newBufferedWriter(folder.resolve("recoded.csv")))) {
            for (Iterator<String[]> lines = output.iterator(); lines.hasNext();) {
                file.println(String.join(";", lines.next()));
            }
        }
        System.out.println(seconds);
    }

    private static List<String[]> cells(Path path) throws Exception {
        List<String[]> found = new ArrayList<>();
        for (String line : Files.readAllLines(path)) {
            found.add(line.split(";", -1));
        }
        return found;
    }

    /** Of the whole process: searching, compiling and collecting garbage included. */
    private static long cpu() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }
}
